package accountsql

import (
	"context"
	"time"

	"comanda/internal/account"
	"comanda/internal/sqldb"
)

// MailChoices implements account.UserStore.
func (s *Accounts) MailChoices(ctx context.Context, id int64) (account.MailChoices, error) {
	return mailChoices(ctx, s.db, id)
}

func mailChoices(ctx context.Context, conn sqldb.Reader, id int64) (account.MailChoices, error) {
	c := account.DefaultMailChoices()
	_, err := sqldb.Read(ctx, conn, []any{
		&c.Locale, sqldb.Bool(&c.OrderReceived), sqldb.Bool(&c.OrderReady), sqldb.Bool(&c.News),
	}, stmt("choice_select"), id)
	return c, err
}

// SetMailChoices implements account.UserStore.
func (s *Accounts) SetMailChoices(
	ctx context.Context, id int64, c account.MailChoices, news *bool, locale string, now time.Time,
) (account.MailChoices, error) {
	err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		before, err := lockChoices(ctx, tx, id)
		if err != nil {
			return err
		}
		if c.News = before.News; news != nil {
			c.News = *news
		}
		putChoices(tx, id, c, now)
		if c.News != before.News {
			tx.Queue(stmt("consent_insert"), id, sqldb.Flag(c.News), string(account.ConsentAccount), locale, now.UnixMilli())
		}
		return nil
	})
	return c, err
}

// WithdrawNews implements account.UserStore.
func (s *Accounts) WithdrawNews(ctx context.Context, id int64, from account.ConsentSource, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		c, err := lockChoices(ctx, tx, id)
		if err != nil || !c.News {
			return err
		}
		c.News = false
		putChoices(tx, id, c, now)
		tx.Queue(stmt("consent_insert"), id, 0, string(from), "", now.UnixMilli())
		return nil
	})
}

// lockChoices locks an account, so that each change of its consent has one row, and returns its choices.
func lockChoices(ctx context.Context, tx sqldb.Tx, id int64) (account.MailChoices, error) {
	if _, err := LockUser(ctx, tx, id); err != nil {
		return account.MailChoices{}, err
	}
	return mailChoices(ctx, tx, id)
}

func putChoices(tx sqldb.Tx, id int64, c account.MailChoices, now time.Time) {
	tx.Queue(stmt("choice_put"), id, c.Locale, sqldb.Flag(c.OrderReceived), sqldb.Flag(c.OrderReady), sqldb.Flag(c.News),
		now.UnixMilli())
}
