-- Gateways are queried about every attempt that waits for its guest (decision 89).

-- +goose Up
-- Binaries before migration 56 stopped queries after 26 hours. Those attempts are due within the next day, spread by the time
-- of the day at which they were created: so they delay no query about a guest who is paying.
UPDATE payment_attempt
SET check_at = created_at % 86400000 +
    /*pg: CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT) *//*sqlite: CAST(unixepoch('subsec') * 1000 AS INTEGER) */
WHERE state = 'REDIRECTED' AND check_at IS NULL;
INSERT INTO schema_floor (version, oldest) VALUES (56, 54);

-- +goose Down
DELETE FROM schema_floor WHERE version = 56;
