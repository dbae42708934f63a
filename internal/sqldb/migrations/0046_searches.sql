-- What guests search for: texts and counts, added from the log of searches every few seconds.

-- +goose Up
CREATE TABLE search_day (
    branch_id BIGINT NOT NULL,
    biz_date  @key NOT NULL,
    query     @key NOT NULL,                  -- lower case, without accents
    searches  BIGINT NOT NULL,
    missed    BIGINT NOT NULL,                -- of these, without a dish
    PRIMARY KEY (branch_id, biz_date, query)
);
CREATE INDEX search_day_age ON search_day (biz_date);
-- Who searched a text that was found. A visitor is one of 1,024 numbers, so that it identifies no person.
CREATE TABLE search_visitor (
    branch_id BIGINT NOT NULL,
    query     @key NOT NULL,
    visitor   INTEGER NOT NULL,
    seen_on   @key NOT NULL,                  -- newest business date
    PRIMARY KEY (branch_id, query, visitor)
);
CREATE INDEX search_visitor_age ON search_visitor (seen_on);
-- How far the searches of a business date were added, by log. A position that two processes move counts once.
CREATE TABLE search_position (
    log      @key NOT NULL,
    biz_date @key NOT NULL,
    position @key NOT NULL,
    moved_at BIGINT NOT NULL,
    PRIMARY KEY (log, biz_date)
);
CREATE INDEX search_position_age ON search_position (moved_at);
INSERT INTO schema_floor (version, oldest) VALUES (46, 40);

-- +goose Down
DROP TABLE search_position;
DROP TABLE search_visitor;
DROP TABLE search_day;
DELETE FROM schema_floor WHERE version = 46;
