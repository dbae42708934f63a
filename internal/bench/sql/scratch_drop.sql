/*pg: DROP SCHEMA IF EXISTS comanda_bench CASCADE *//*sqlite: SELECT 0 */
