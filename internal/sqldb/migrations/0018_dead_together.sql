-- Deletions travel with the change, one row for all of a transaction: a checkout deletes a cart and its lines, and a row
-- for each of them cost as much as the order's own.

-- +goose Up
ALTER TABLE document_outbox ADD COLUMN dead TEXT NOT NULL DEFAULT ''; -- JSON object: which of the ids were deleted, at which version
DROP TABLE document_tombstone;
CREATE TABLE document_tombstone (
    id         @key PRIMARY KEY,                            -- sorts by time
    entity     TEXT NOT NULL,
    dead       TEXT NOT NULL,                               -- as in document_outbox
    deleted_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE document_tombstone;
CREATE TABLE document_tombstone (
    entity     @key NOT NULL,
    id         @key NOT NULL,
    version    BIGINT NOT NULL,
    deleted_at BIGINT NOT NULL,
    PRIMARY KEY (entity, id)
);
CREATE INDEX document_tombstone_at ON document_tombstone /*pg: USING brin */ (deleted_at);
ALTER TABLE document_outbox DROP COLUMN dead;
