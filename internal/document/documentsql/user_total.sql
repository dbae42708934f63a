SELECT COUNT(*) FROM app_user
