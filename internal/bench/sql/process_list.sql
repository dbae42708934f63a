-- The processes that work for this database; SQLite has none of its own.
/*pg: SELECT pid FROM pg_stat_activity WHERE datname = current_database() OR backend_type <> 'client backend' */
/*sqlite: SELECT 0 WHERE false */
