-- News to members who agreed to them, and reminders to finish a registration.

-- +goose Up
ALTER TABLE account_mail ADD COLUMN news SMALLINT NOT NULL DEFAULT 0;  -- 1: agreed to news; see account_consent
-- Every change of a consent: the proof of who agreed to what, when and where. Rows never change.
CREATE TABLE account_consent (
    id      @identity,
    user_id BIGINT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    given   SMALLINT NOT NULL,                          -- 0: withdrawn
    source  @key NOT NULL,                              -- ACCOUNT, LINK
    locale  TEXT NOT NULL,                              -- language of the text that was shown; empty if unknown
    at      BIGINT NOT NULL
);
CREATE INDEX account_consent_user ON account_consent (user_id);
CREATE TABLE mailing (
    id            @key PRIMARY KEY,
    client_txn_id @key NOT NULL,
    digest        @key NOT NULL,                        -- of the request, to refuse another one under the same id
    kind          @key NOT NULL,                        -- NEWS, REMINDER
    preview       SMALLINT NOT NULL DEFAULT 0,          -- 1: sent to its author only
    segment       TEXT NOT NULL,                        -- JSON object, see mailing.Segment
    texts         TEXT NOT NULL,                        -- JSON array, see mailing.Text
    state         @key NOT NULL,                        -- SENDING, SENT, CANCELED
    matched       BIGINT NOT NULL,                      -- members in the segment when it was created
    excluded      BIGINT NOT NULL,                      -- of these, without consent
    after_id      BIGINT NOT NULL DEFAULT 0,            -- members up to this id have been queued
    expanded      SMALLINT NOT NULL DEFAULT 0,          -- 1: all members have been queued
    next_at       BIGINT NOT NULL,                      -- when the next members are queued
    created_at    BIGINT NOT NULL,
    created_by    @key NOT NULL,
    finished_at   BIGINT,
    UNIQUE (created_by, client_txn_id)
);
CREATE INDEX mailing_sending ON mailing (created_at, id) WHERE state = 'SENDING';
-- The e-mails of a mailing, one per member. mail_id is an id of mail_outbox, from which an e-mail is deleted once it is sent.
CREATE TABLE mailing_recipient (
    mailing_id @key NOT NULL REFERENCES mailing (id) ON DELETE CASCADE,
    user_id    BIGINT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    mail_id    @key NOT NULL UNIQUE,
    state      @key NOT NULL,                           -- QUEUED, SENT, FAILED, SKIPPED
    PRIMARY KEY (mailing_id, user_id)
);
CREATE INDEX mailing_recipient_user ON mailing_recipient (user_id);
-- Whether a member was active since a date.
CREATE INDEX member_activity_user ON member_activity (user_id, day);
-- The list of accounts by last login, those who never logged in at its end.
CREATE INDEX app_user_last_login ON app_user (last_login_at DESC /*pg: NULLS LAST */, id);
INSERT INTO schema_floor (version, oldest) VALUES (49, 40);

-- +goose Down
DROP INDEX app_user_last_login;
DROP INDEX member_activity_user;
DROP TABLE mailing_recipient;
DROP TABLE mailing;
DROP TABLE account_consent;
ALTER TABLE account_mail DROP COLUMN news;
DELETE FROM schema_floor WHERE version = 49;
