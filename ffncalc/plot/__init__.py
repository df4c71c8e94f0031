"""Pictures: what they show is worked out here without a plotting library; only `draw` imports one."""
