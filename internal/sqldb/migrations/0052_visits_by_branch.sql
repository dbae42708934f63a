-- The visits of a branch, newest first, without reading those of all branches and years.

-- +goose Up
CREATE INDEX visit_branch ON visit (branch_id, opened_at);
INSERT INTO schema_floor (version, oldest) VALUES (52, 40);

-- +goose Down
DROP INDEX visit_branch;
DELETE FROM schema_floor WHERE version = 52;
