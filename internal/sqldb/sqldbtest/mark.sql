-- Returns a hash of all parts of a schema that a test can change. A copy has the same hash as its template.
SELECT md5(string_agg(part, ',' ORDER BY part))
FROM (SELECT concat_ws(' ', 'class', oid, relname, relkind, reloptions) AS part FROM pg_class
      WHERE oid >= 16384 AND relnamespace::regnamespace::text !~ '^pg_(toast_)?temp'
      UNION ALL SELECT concat_ws(' ', 'column', attrelid, attnum, attname, atttypid, attnotnull, atthasdef, attidentity)
      FROM pg_attribute WHERE attrelid >= 16384
      UNION ALL SELECT concat_ws(' ', 'default', oid, adbin) FROM pg_attrdef
      UNION ALL SELECT concat_ws(' ', 'constraint', oid, conname) FROM pg_constraint WHERE oid >= 16384
      UNION ALL SELECT concat_ws(' ', 'trigger', oid, tgenabled) FROM pg_trigger
      UNION ALL SELECT concat_ws(' ', 'function', oid, prosrc) FROM pg_proc WHERE oid >= 16384
      UNION ALL SELECT concat_ws(' ', 'schema', oid) FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp') AS parts
