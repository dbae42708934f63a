-- PINs, by which staff take turns at a device that is logged in.

-- +goose Up
CREATE TABLE user_pin (
    user_id    BIGINT PRIMARY KEY REFERENCES app_user (id),
    hash       TEXT NOT NULL,                               -- PHC string of argon2id
    failures   INTEGER NOT NULL DEFAULT 0,                  -- consecutive wrong ones
    updated_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE user_pin;
