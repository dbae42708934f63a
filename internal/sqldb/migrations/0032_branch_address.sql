-- Adds readable names for the addresses of branches' menus, a sender of e-mails per branch, and an index of orders by hold.

-- +goose Up
-- Names of branches in menu addresses. Earlier names stay, so that links and printed codes still work.
CREATE TABLE branch_slug (
    slug       @key PRIMARY KEY,
    branch_id  BIGINT NOT NULL,
    is_current SMALLINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX branch_slug_current ON branch_slug (branch_id) WHERE is_current = 1;
ALTER TABLE branch ADD COLUMN mail_from TEXT NOT NULL DEFAULT ''; -- a mailbox; empty: the branch's name and the restaurant's address
ALTER TABLE mail_outbox ADD COLUMN branch_id BIGINT;              -- the branch that the e-mail is about; NULL: none
CREATE INDEX order_info_hold ON order_info (hold_id);
INSERT INTO schema_floor (version, oldest) VALUES (32, 20);

-- +goose Down
DROP INDEX order_info_hold;
ALTER TABLE mail_outbox DROP COLUMN branch_id;
ALTER TABLE branch DROP COLUMN mail_from;
DROP TABLE branch_slug;
DELETE FROM schema_floor WHERE version = 32;
