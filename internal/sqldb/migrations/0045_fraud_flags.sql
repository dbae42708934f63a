-- Fraud flags of accounts, and the trust score that follows from them (decision 69).

-- +goose Up
CREATE TABLE account_flag (
    id         @key PRIMARY KEY,
    user_id    BIGINT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,                 -- see account.FlagKind
    order_id   @key,                          -- the order that it is about; NULL: none
    note       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL
);
CREATE UNIQUE INDEX account_flag_order ON account_flag (user_id, kind, order_id);
CREATE INDEX account_flag_age ON account_flag (created_at);
ALTER TABLE app_user ADD COLUMN fraud_flags TEXT; -- JSON array of the kinds of flags that count; NULL: none
-- Nothing has set a score so far except imports. New accounts are created with 100.
UPDATE app_user SET trust_score = 100 WHERE trust_score = 0;
UPDATE document_plane SET epoch = '', building = '', claimed_until = 0;
INSERT INTO schema_floor (version, oldest) VALUES (45, 40);

-- +goose Down
UPDATE document_plane SET epoch = '', building = '', claimed_until = 0;
UPDATE app_user SET trust_score = 0 WHERE trust_score = 100;
ALTER TABLE app_user DROP COLUMN fraud_flags;
DROP TABLE account_flag;
DELETE FROM schema_floor WHERE version = 45;
