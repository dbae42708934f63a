-- PostgreSQL does not count ids that were given; SQLite does.
SELECT 1
/*pg: , setval(pg_get_serial_sequence('app_user', 'id'), (SELECT COALESCE(MAX(id), 1) FROM app_user)) */
