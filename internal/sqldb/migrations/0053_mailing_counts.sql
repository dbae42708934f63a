-- Recipients of finished mailings are purged. Their counts stay in the mailing.

-- +goose Up
ALTER TABLE mailing ADD COLUMN purged_sent BIGINT NOT NULL DEFAULT 0;     -- recipients that were purged, by state
ALTER TABLE mailing ADD COLUMN purged_failed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE mailing ADD COLUMN purged_skipped BIGINT NOT NULL DEFAULT 0;
INSERT INTO schema_floor (version, oldest) VALUES (53, 40);

-- +goose Down
ALTER TABLE mailing DROP COLUMN purged_skipped;
ALTER TABLE mailing DROP COLUMN purged_failed;
ALTER TABLE mailing DROP COLUMN purged_sent;
DELETE FROM schema_floor WHERE version = 53;
