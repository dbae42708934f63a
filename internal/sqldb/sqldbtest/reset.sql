-- Returns the statements that restore the current rows and sequences of a database. They need disabled triggers and
-- foreign keys.
WITH tables AS (
	SELECT format('%I', relname) AS name,
		(xpath('/row/v/text()', query_to_xml(
			format('SELECT encode(convert_to(jsonb_agg(to_jsonb(t))::text, ''UTF8''), ''hex'') AS v FROM %I AS t', relname),
			false, true, '')))[1]::text AS rows
	FROM pg_class
	WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
)
SELECT format('DELETE FROM %s', name) FROM tables
UNION ALL
SELECT format('INSERT INTO %s SELECT * FROM jsonb_populate_recordset(NULL::%s, convert_from(decode(%L, ''hex''), ''UTF8'')::jsonb)',
	name, name, rows) FROM tables WHERE rows IS NOT NULL
UNION ALL
SELECT format('SELECT setval(%L, %s, %L)', format('%I', sequencename), coalesce(last_value, start_value), last_value IS NOT NULL)
FROM pg_sequences WHERE schemaname = 'public'
