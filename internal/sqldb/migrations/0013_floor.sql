-- The floor: tables that are out of use, and calls of guests.

-- +goose Up
ALTER TABLE dining_table ADD COLUMN active SMALLINT NOT NULL DEFAULT 1; -- 0: its QR code is refused
ALTER TABLE visit ADD COLUMN called_bill BIGINT;                        -- since when it wants to pay; NULL: it does not
ALTER TABLE visit ADD COLUMN called_help BIGINT;                        -- calls the staff
ALTER TABLE visit ADD COLUMN called_water BIGINT;                       -- wants water

-- +goose Down
ALTER TABLE visit DROP COLUMN called_water;
ALTER TABLE visit DROP COLUMN called_help;
ALTER TABLE visit DROP COLUMN called_bill;
ALTER TABLE dining_table DROP COLUMN active;
