-- One round: a busy piece shorter than the idle excess on both its sides becomes part of one stretch with them.
-- Repeated until nothing changes; every stretch stays more idle than busy, because each excess is larger than the piece.
-- Grain: one row per piece absorbed in this round.

UPDATE idle_pieces
SET absorbed = true
FROM (
    SELECT p.step_id, p.piece
    FROM idle_sides AS p
    JOIN idle_scores AS l ON l.step_id = p.step_id AND l.stretch = p.stretch
    JOIN idle_scores AS r ON r.step_id = p.step_id AND r.stretch = p.stretch + 1
    WHERE NOT p.absorbed AND p.busy_ns < least(l.score_ns, r.score_ns)
) AS grown
WHERE idle_pieces.step_id = grown.step_id AND idle_pieces.piece = grown.piece
RETURNING idle_pieces.piece;
