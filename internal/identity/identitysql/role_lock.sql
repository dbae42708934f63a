-- The one lock under which roles, permissions, and who has which role change. Accounts are locked after it.
SELECT id FROM role WHERE name = 'OWNER' /*pg: FOR NO KEY UPDATE */
