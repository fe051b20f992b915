"""Model code read statically: modules, decision trees, candidates for fused operators."""
