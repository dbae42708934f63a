-- Returns the tables that a test has filled so much that their deleted rows would slow the next test.
SELECT coalesce(string_agg(format('%I', relname), ', '), '')
FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 65536
