-- name: process_list
-- The PostgreSQL processes that work for this database. SQLite runs inside the server.
/*pg: SELECT pid FROM pg_stat_activity WHERE datname = current_database() OR backend_type <> 'client backend' */
/*sqlite: SELECT 0 WHERE false */

-- name: scratch_create
/*pg: CREATE SCHEMA comanda_bench *//*sqlite: SELECT 0 */

-- name: scratch_drop
/*pg: DROP SCHEMA IF EXISTS comanda_bench CASCADE *//*sqlite: SELECT 0 */

-- name: statistics_gather
/*pg: ANALYZE *//*sqlite: SELECT 0 */
