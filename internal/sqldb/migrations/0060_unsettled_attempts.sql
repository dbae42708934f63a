-- Staff must also decide captures that never got a result, so the index of attempts that need attention has CONFIRMING too.

-- +goose Up
CREATE INDEX payment_attempt_unsettled ON payment_attempt (state, created_at) WHERE state IN ('REVIEW', 'UNKNOWN', 'CONFIRMING');
DROP INDEX payment_attempt_open;
INSERT INTO schema_floor (version, oldest) VALUES (60, 54);

-- +goose Down
CREATE INDEX payment_attempt_open ON payment_attempt (state, created_at) WHERE state IN ('REVIEW', 'UNKNOWN');
DROP INDEX payment_attempt_unsettled;
DELETE FROM schema_floor WHERE version = 60;
