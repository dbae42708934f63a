-- When accounts logged in last, and the dates on which members used theirs.

-- +goose Up
ALTER TABLE app_user ADD COLUMN last_login_at BIGINT;      -- NULL: never
UPDATE app_user SET last_login_at = (SELECT max(s.created_at) FROM auth_session s WHERE s.user_id = app_user.id);
CREATE TABLE member_activity (
    day     @key NOT NULL,                                 -- see analytics.Members
    user_id BIGINT NOT NULL,
    PRIMARY KEY (day, user_id)
);
-- Documents of accounts get a new field, so they are rebuilt.
UPDATE document_plane SET epoch = '', building = '', claimed_until = 0;
INSERT INTO schema_floor (version, oldest) VALUES (47, 40);

-- +goose Down
UPDATE document_plane SET epoch = '', building = '', claimed_until = 0;
DROP TABLE member_activity;
ALTER TABLE app_user DROP COLUMN last_login_at;
DELETE FROM schema_floor WHERE version = 47;
