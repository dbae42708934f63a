/*pg: CREATE SCHEMA comanda_bench *//*sqlite: SELECT 0 */
