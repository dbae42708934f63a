-- The array keeps PostgreSQL on the index: it may have seen the table when it was empty.
DELETE FROM redis_outbox WHERE id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */
