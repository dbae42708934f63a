-- A branch has several published menus, each with a schedule.

-- +goose Up
ALTER TABLE menu ADD COLUMN schedule TEXT NOT NULL DEFAULT ''; -- JSON, see catalog.MenuSchedule; empty: always offered
DROP INDEX menu_version_published;
CREATE UNIQUE INDEX menu_version_published ON menu_version (menu_id) WHERE status = 'PUBLISHED';
CREATE INDEX menu_version_offered ON menu_version (branch_id) WHERE status = 'PUBLISHED';
-- Versions that were offered together. Phones name them by one id, and an order may name them after the next change.
CREATE TABLE menu_combination (
    id         BIGINT PRIMARY KEY,                              -- computed from the parts, see catalog.CombinationID
    branch_id  BIGINT NOT NULL REFERENCES branch (id),
    parts      TEXT NOT NULL,                                   -- JSON, see catalog.MenuPart
    created_at BIGINT NOT NULL
);
CREATE INDEX menu_combination_branch ON menu_combination (branch_id);
INSERT INTO schema_floor (version, oldest) VALUES (40, 40);

-- +goose Down
-- The previous release has one published version per branch: that of the oldest menu stays.
UPDATE menu_version SET status = 'CLOSED', closed_at = published_at
WHERE status = 'PUBLISHED' AND menu_id > (
    SELECT MIN(o.menu_id) FROM menu_version o WHERE o.branch_id = menu_version.branch_id AND o.status = 'PUBLISHED');
DROP TABLE menu_combination;
DROP INDEX menu_version_offered;
DROP INDEX menu_version_published;
CREATE UNIQUE INDEX menu_version_published ON menu_version (branch_id) WHERE status = 'PUBLISHED';
ALTER TABLE menu DROP COLUMN schedule;
DELETE FROM schema_floor WHERE version = 40;
