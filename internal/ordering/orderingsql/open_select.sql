-- Which of these visits are open and which of these menu versions published, in one question.
SELECT 'visit', v.id FROM visit v JOIN @rows($1: id text) AS r ON v.id = r.id WHERE v.status = 'OPEN'
UNION ALL
SELECT 'version', CAST(m.id AS TEXT) FROM menu_version m JOIN @rows($2: id int) AS r ON m.id = r.id WHERE m.status = 'PUBLISHED'
