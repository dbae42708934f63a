-- Identity and access: accounts, roles, permissions, sessions, codes, mail, the audit log.

-- +goose Up
CREATE TABLE role (
    id          @identity,
    name        @key NOT NULL UNIQUE,                       -- OWNER, ADMIN, MANAGER, CASHIER, KITCHEN, STAFF, USER, or a custom role
    description TEXT NOT NULL DEFAULT '',
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    created_by  TEXT NOT NULL DEFAULT '',
    updated_by  TEXT NOT NULL DEFAULT '',
    version     BIGINT NOT NULL DEFAULT 1
);

-- One row per route that requires a permission. Each start synchronizes them with the route table.
CREATE TABLE permission (
    id         @identity,
    name       TEXT NOT NULL,
    api_path   @key NOT NULL,                               -- the route's pattern, /api/tables/{id}/rotate
    method     @key NOT NULL,
    module     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    created_by TEXT NOT NULL DEFAULT '',
    updated_by TEXT NOT NULL DEFAULT '',
    version    BIGINT NOT NULL DEFAULT 1,
    UNIQUE (api_path, method)
);

CREATE TABLE role_permission (
    role_id       BIGINT NOT NULL REFERENCES role (id),
    permission_id BIGINT NOT NULL REFERENCES permission (id),
    PRIMARY KEY (role_id, permission_id)
);

-- E-mail, username, phone, device and Google id are stored normalized, so that unique indexes compare them.
CREATE TABLE app_user (
    id             @identity,
    username       @key UNIQUE,
    email          @key UNIQUE,
    phone          @key UNIQUE,
    device_id      @key UNIQUE,
    google_id      @key UNIQUE,
    password       TEXT,                                    -- PHC string of argon2id; NULL: no login by password
    role_id        BIGINT NOT NULL REFERENCES role (id),
    status         TEXT NOT NULL CHECK (status IN ('PENDING', 'ACTIVE', 'DISABLED')),
    address        TEXT,
    gender         TEXT CHECK (gender IN ('MALE', 'FEMALE', 'OTHER')),
    first_name     TEXT,
    surname        TEXT,
    age            INTEGER CHECK (age BETWEEN 0 AND 150),
    occupation     TEXT,
    province       TEXT,
    city           TEXT,
    geolocation    TEXT,                                    -- "latitude,longitude"
    trust_score    INTEGER NOT NULL DEFAULT 0,
    profile        TEXT NOT NULL DEFAULT '{}',              -- open JSON object, at most 8 KB
    registered     SMALLINT NOT NULL DEFAULT 0,             -- 1 once the e-mail address was verified
    valid_from     BIGINT NOT NULL DEFAULT 0,               -- access tokens and sessions from before are invalid
    failures       INTEGER NOT NULL DEFAULT 0,              -- consecutive wrong passwords; at the maximum, login by password is closed
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    created_by     TEXT NOT NULL DEFAULT '',
    updated_by     TEXT NOT NULL DEFAULT '',
    version        BIGINT NOT NULL DEFAULT 1
);
CREATE INDEX app_user_province ON app_user (province) WHERE province IS NOT NULL;
CREATE INDEX app_user_city ON app_user (city) WHERE city IS NOT NULL;
CREATE INDEX app_user_unregistered ON app_user (id) WHERE registered = 0;
CREATE INDEX app_user_role ON app_user (role_id);

-- The branches in which a member of the staff works. Owners and administrators need none: they work in all.
CREATE TABLE user_branch (
    user_id   BIGINT NOT NULL REFERENCES app_user (id),
    branch_id BIGINT NOT NULL REFERENCES branch (id),
    PRIMARY KEY (user_id, branch_id)
);

-- One login on one device. Its refresh token changes with every use; only hashes are stored.
CREATE TABLE auth_session (
    id             @key PRIMARY KEY,
    user_id        BIGINT NOT NULL REFERENCES app_user (id),
    token_hash     @key NOT NULL UNIQUE,                    -- of the valid refresh token
    previous_hash  @key,                                    -- of the previous token, valid for an immediate retry
    next_token     TEXT,                                    -- the successor, sealed with a key of the previous token
    rotated_at     BIGINT NOT NULL,
    device         TEXT NOT NULL DEFAULT '',
    address        TEXT NOT NULL DEFAULT '',
    created_at     BIGINT NOT NULL,
    last_seen_at   BIGINT NOT NULL,
    idle_until     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    ended_at       BIGINT,
    end_reason     TEXT                                     -- LOGOUT, ENDED, REUSED, DISABLED, ROLE, PASSWORD, EVICTED
);
CREATE INDEX auth_session_user ON auth_session (user_id) WHERE ended_at IS NULL;
CREATE INDEX auth_session_ended ON auth_session (ended_at) WHERE ended_at IS NOT NULL;

-- Spent refresh tokens: a second use of one ends its session.
CREATE TABLE auth_spent (
    token_hash @key PRIMARY KEY,
    session_id @key NOT NULL,
    spent_at   BIGINT NOT NULL
);
CREATE INDEX auth_spent_at ON auth_spent (spent_at);

-- Revocations of access tokens that have not expired. Every process reads new rows every second.
CREATE TABLE auth_revocation (
    id         @key PRIMARY KEY,
    kind       TEXT NOT NULL CHECK (kind IN ('SESSION', 'USER', 'ROLE')),
    subject    @key NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX auth_revocation_at ON auth_revocation (created_at);

-- One-time codes. Attempts are counted before the code is compared.
CREATE TABLE auth_otp (
    purpose     @key NOT NULL,                              -- VERIFY, RESET
    user_id     BIGINT NOT NULL REFERENCES app_user (id),
    code_hash   TEXT NOT NULL,                              -- HMAC-SHA256 with the installation's key
    attempts    INTEGER NOT NULL DEFAULT 0,
    sent_at     BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    used_at     BIGINT,
    PRIMARY KEY (purpose, user_id)
);

-- Limits that do not depend on Redis: the number of actions on a subject within a window.
CREATE TABLE auth_cap (
    action       @key NOT NULL,
    subject      @key NOT NULL,                             -- hashed if it could be a secret
    window_start BIGINT NOT NULL,
    used         INTEGER NOT NULL,
    PRIMARY KEY (action, subject, window_start)
);
CREATE INDEX auth_cap_window ON auth_cap (window_start);

-- Queued mail: stored in the transaction of its cause, sent afterwards, deleted once the server has accepted it.
CREATE TABLE mail_outbox (
    id           @key PRIMARY KEY,
    recipient    TEXT NOT NULL,
    template     TEXT NOT NULL,
    locale       TEXT NOT NULL,
    fields       TEXT NOT NULL,                             -- JSON object; codes are sealed, see package mail
    created_at   BIGINT NOT NULL,
    available_at BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,                           -- no longer sent after this
    attempts     INTEGER NOT NULL DEFAULT 0,
    last_error   TEXT NOT NULL DEFAULT '',
    dead         SMALLINT NOT NULL DEFAULT 0
);
CREATE INDEX mail_outbox_due ON mail_outbox (available_at) WHERE dead = 0;

-- The audit log. Each row contains the hash of the one before it, so that a changed entry is detected.
CREATE TABLE audit_log (
    seq        BIGINT PRIMARY KEY,
    at         BIGINT NOT NULL,
    actor      @key NOT NULL,                               -- user:7, service, system
    action     TEXT NOT NULL,                               -- of the OWASP logging vocabulary where it has one
    subject    @key NOT NULL,                               -- user:12, table:3
    branch_id  BIGINT,
    request_id TEXT NOT NULL DEFAULT '',
    before     TEXT NOT NULL DEFAULT '',                    -- JSON, without secrets
    after      TEXT NOT NULL DEFAULT '',
    prev_hash  TEXT NOT NULL,
    hash       TEXT NOT NULL
);
CREATE INDEX audit_log_at ON audit_log (at);
CREATE INDEX audit_log_subject ON audit_log (subject);
CREATE INDEX audit_log_actor ON audit_log (actor);
CREATE INDEX audit_log_branch ON audit_log (branch_id) WHERE branch_id IS NOT NULL;

-- The number and hash of the newest row. Writers lock it, after all other locks.
CREATE TABLE audit_head (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    seq  BIGINT NOT NULL,
    hash TEXT NOT NULL
);
INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, '');

-- Generated secrets, for which the operator has set none: keys of tokens and codes.
CREATE TABLE install_secret (
    name       @key PRIMARY KEY,
    value      TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE install_secret;
DROP TABLE audit_head;
DROP TABLE audit_log;
DROP TABLE mail_outbox;
DROP TABLE auth_cap;
DROP TABLE auth_otp;
DROP TABLE auth_revocation;
DROP TABLE auth_spent;
DROP TABLE auth_session;
DROP TABLE user_branch;
DROP TABLE app_user;
DROP TABLE role_permission;
DROP TABLE permission;
DROP TABLE role;
