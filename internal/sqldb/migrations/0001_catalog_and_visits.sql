-- One text for both engines. @identity and @key stand for column types that the engines spell differently, see migrate.go.
-- Instants are unix milliseconds in UTC, money is minor units, booleans are 0 and 1, business dates are 2006-01-02.

-- +goose Up
CREATE TABLE branch (
    id                 @identity,
    name               TEXT NOT NULL,
    currency           TEXT NOT NULL,
    timezone           TEXT NOT NULL,
    biz_day_start_hour SMALLINT NOT NULL CHECK (biz_day_start_hour BETWEEN 0 AND 23),
    locales            TEXT NOT NULL,                       -- JSON array, the branch's own first
    auto_close_minutes INTEGER NOT NULL CHECK (auto_close_minutes > 0),
    is_open            SMALLINT NOT NULL DEFAULT 1,
    revision           BIGINT NOT NULL DEFAULT 1,           -- incremented by every change that the branch's menu shows
    created_at         BIGINT NOT NULL
);

CREATE TABLE category (
    id    @identity,
    sort  INTEGER NOT NULL DEFAULT 0,
    names TEXT NOT NULL                                     -- JSON object, locale -> text
);

CREATE TABLE dish (
    id           @identity,
    category_id  BIGINT NOT NULL REFERENCES category (id),
    names        TEXT NOT NULL,                             -- JSON object, locale -> text
    descriptions TEXT NOT NULL,
    image_url    TEXT
);

CREATE TABLE menu (
    id        @identity,
    branch_id BIGINT NOT NULL REFERENCES branch (id),
    name      TEXT NOT NULL
);
CREATE INDEX menu_branch ON menu (branch_id);

-- A dish on a menu. Carts of phones and quota counters refer to its id, so it is the same in all versions.
CREATE TABLE menu_item (
    id          @identity,
    menu_id     BIGINT NOT NULL REFERENCES menu (id),
    branch_id   BIGINT NOT NULL REFERENCES branch (id),
    dish_id     BIGINT NOT NULL REFERENCES dish (id),
    daily_quota BIGINT CHECK (daily_quota >= 0),            -- in force now; NULL is unlimited
    UNIQUE (menu_id, dish_id)
);
CREATE INDEX menu_item_branch ON menu_item (branch_id);

CREATE TABLE menu_version (
    id           @identity,
    menu_id      BIGINT NOT NULL REFERENCES menu (id),
    branch_id    BIGINT NOT NULL REFERENCES branch (id),
    number       INTEGER NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('DRAFT', 'PUBLISHED', 'CLOSED')),
    created_at   BIGINT NOT NULL,
    published_at BIGINT,
    closed_at    BIGINT,
    UNIQUE (menu_id, number)
);
CREATE UNIQUE INDEX menu_version_published ON menu_version (branch_id) WHERE status = 'PUBLISHED';

CREATE TABLE menu_version_item (
    version_id  BIGINT NOT NULL REFERENCES menu_version (id),
    item_id     BIGINT NOT NULL REFERENCES menu_item (id),
    sort        INTEGER NOT NULL DEFAULT 0,
    price       BIGINT NOT NULL CHECK (price >= 0),
    daily_quota BIGINT CHECK (daily_quota >= 0),            -- as published; menu_item holds what is in force
    is_active   SMALLINT NOT NULL DEFAULT 1,
    PRIMARY KEY (version_id, item_id)
);

CREATE TABLE dining_table (
    id        @identity,
    branch_id BIGINT NOT NULL REFERENCES branch (id),
    label     TEXT NOT NULL,
    seats     INTEGER NOT NULL DEFAULT 4,
    UNIQUE (branch_id, label)
);

CREATE TABLE table_qr (
    token      @key PRIMARY KEY,
    table_id   BIGINT NOT NULL REFERENCES dining_table (id),
    status     TEXT NOT NULL CHECK (status IN ('ACTIVE', 'REVOKED')),
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
CREATE UNIQUE INDEX table_qr_active ON table_qr (table_id) WHERE status = 'ACTIVE';

CREATE TABLE visit (
    id           @key PRIMARY KEY,
    branch_id    BIGINT NOT NULL REFERENCES branch (id),
    table_id     BIGINT NOT NULL REFERENCES dining_table (id),
    biz_date     @key NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('OPEN', 'CLOSED')),
    opened_at    BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    closed_at    BIGINT,
    close_reason TEXT,                                      -- STAFF, IDLE, ROTATED
    keys_left    SMALLINT NOT NULL DEFAULT 0                -- closed, but Redis may still have keys of it
);
CREATE UNIQUE INDEX visit_open_table ON visit (table_id) WHERE status = 'OPEN';
CREATE INDEX visit_open_seen ON visit (last_seen_at) WHERE status = 'OPEN';
CREATE INDEX visit_keys_left ON visit (closed_at) WHERE keys_left = 1;

-- One phone at a visit. Only the SHA-256 of its token is stored.
CREATE TABLE visit_guest (
    token_hash @key PRIMARY KEY,
    visit_id   @key NOT NULL REFERENCES visit (id),
    created_at BIGINT NOT NULL
);
CREATE INDEX visit_guest_visit ON visit_guest (visit_id);

-- +goose Down
DROP TABLE visit_guest;
DROP TABLE visit;
DROP TABLE table_qr;
DROP TABLE dining_table;
DROP TABLE menu_version_item;
DROP TABLE menu_version;
DROP TABLE menu_item;
DROP TABLE menu;
DROP TABLE dish;
DROP TABLE category;
DROP TABLE branch;
