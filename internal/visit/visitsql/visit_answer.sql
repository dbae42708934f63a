-- An empty reason answers every call.
UPDATE visit
SET called_bill = CASE WHEN CAST($2 AS TEXT) IN ('', 'BILL') THEN NULL ELSE called_bill END,
    called_help = CASE WHEN $2 IN ('', 'HELP') THEN NULL ELSE called_help END,
    called_water = CASE WHEN $2 IN ('', 'WATER') THEN NULL ELSE called_water END
WHERE id = $1
