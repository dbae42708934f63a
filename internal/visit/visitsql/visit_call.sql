-- Who calls again has called since the first time; no row is changed then.
UPDATE visit
SET called_bill = CASE WHEN CAST($2 AS TEXT) = 'BILL' THEN CAST($3 AS BIGINT) ELSE called_bill END,
    called_help = CASE WHEN $2 = 'HELP' THEN CAST($3 AS BIGINT) ELSE called_help END,
    called_water = CASE WHEN $2 = 'WATER' THEN CAST($3 AS BIGINT) ELSE called_water END
WHERE id = $1 AND status = 'OPEN'
  AND CASE $2 WHEN 'BILL' THEN called_bill WHEN 'HELP' THEN called_help ELSE called_water END IS NULL
