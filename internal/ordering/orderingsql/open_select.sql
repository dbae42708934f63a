-- Which of these visits are open, which of these menu versions published, and which of these branches paused, in one
-- question.
SELECT 'visit', v.id FROM visit v JOIN @rows($1: id text) AS r ON v.id = r.id WHERE v.status = 'OPEN'
UNION ALL
SELECT 'version', CAST(m.id AS TEXT) FROM menu_version m JOIN @rows($2: id int) AS r ON m.id = r.id WHERE m.status = 'PUBLISHED'
UNION ALL
SELECT 'paused', CAST(b.id AS TEXT)
FROM branch b
JOIN @rows($3: id int) AS r ON b.id = r.id
WHERE b.paused_at IS NOT NULL AND (b.paused_until IS NULL OR b.paused_until > $4)
