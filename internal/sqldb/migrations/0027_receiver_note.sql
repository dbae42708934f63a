-- Members leave a note for the courier: a gate code, a floor, where to meet.

-- +goose Up
ALTER TABLE order_info ADD COLUMN receiver_note TEXT; -- lines; NULL: none
INSERT INTO schema_floor (version, oldest) VALUES (27, 20);

-- +goose Down
ALTER TABLE order_info DROP COLUMN receiver_note;
DELETE FROM schema_floor WHERE version = 27;
