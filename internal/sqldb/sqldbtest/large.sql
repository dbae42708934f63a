-- The tables that a test has made so large that reading past the deleted rows would slow the next one down.
SELECT coalesce(string_agg(format('%I', relname), ', '), '')
FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 65536
