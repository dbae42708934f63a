SELECT id, version FROM role
