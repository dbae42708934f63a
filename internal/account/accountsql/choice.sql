-- name: choice_select
SELECT locale, order_received, order_ready, news FROM account_mail WHERE user_id = $1

-- name: choice_put
INSERT INTO account_mail (user_id, locale, order_received, order_ready, news, updated_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (user_id) DO UPDATE
SET locale = excluded.locale, order_received = excluded.order_received, order_ready = excluded.order_ready,
    news = excluded.news, updated_at = excluded.updated_at

-- name: choice_locale
-- A language that was chosen stays.
INSERT INTO account_mail (user_id, locale, updated_at) VALUES ($1, $2, $3) ON CONFLICT (user_id) DO NOTHING

-- name: consent_insert
INSERT INTO account_consent (user_id, given, source, locale, at) VALUES ($1, $2, $3, $4, $5)
