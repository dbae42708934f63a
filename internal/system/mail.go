package system

import (
	"context"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/mail"
	"comanda/internal/mail/mailsql"
	"comanda/internal/sqldb"
)

// Mail returns a page of the e-mails that wait or failed, newest first, and their total number. An empty state selects
// both.
func (s *Service) Mail(ctx context.Context, state mail.State, limit, offset int) ([]mail.Entry, int64, error) {
	return mailsql.List(ctx, s.DB, state, limit, offset)
}

// SendMailAgain makes an e-mail due at once, as if it had not been tried. If it is being sent at this moment, its
// recipient may get it twice, with the same Message-ID.
func (s *Service) SendMailAgain(ctx context.Context, by authz.Actor, id string) error {
	return s.DB.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		now := s.DB.Now()
		template, err := mailsql.SendAgain(ctx, tx, id, now)
		if err != nil {
			return err
		}
		return auditsql.Record(ctx, tx, audit.NewEntry(by, now, audit.ActionMailAgain, "mail", id, 0).
			WithAfter(map[string]string{"template": template}))
	})
}
