package accountsql

import (
	"context"
	"time"

	"comanda/internal/account"
	"comanda/internal/sqldb"
)

// MailChoices implements account.UserStore.
func (s *Accounts) MailChoices(ctx context.Context, id int64) (account.MailChoices, error) {
	c := account.DefaultMailChoices()
	_, err := sqldb.Read(ctx, s.db, []any{&c.Locale, sqldb.Bool(&c.OrderReceived), sqldb.Bool(&c.OrderReady)},
		stmt("choice_select"), id)
	return c, err
}

// SetMailChoices implements account.UserStore.
func (s *Accounts) SetMailChoices(ctx context.Context, id int64, c account.MailChoices, now time.Time) error {
	_, err := s.db.Exec(ctx, stmt("choice_put"), id, c.Locale, sqldb.Flag(c.OrderReceived), sqldb.Flag(c.OrderReady),
		now.UnixMilli())
	return err
}
