SELECT COUNT(*) FROM permission
