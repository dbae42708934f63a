SELECT id, name, api_path, method, module, created_at, updated_at, version
FROM permission
ORDER BY module, api_path, method
