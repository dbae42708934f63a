package accountsql

import (
	"context"
	"time"

	"comanda/internal/account"
	"comanda/internal/sqldb"
)

// purgeLimit is how many rows one statement deletes, so that its locks are short.
const purgeLimit = 5000

// Purge deletes rows that are no longer needed. Several processes may run it at once.
func (s *Accounts) Purge(ctx context.Context, now time.Time) error {
	at := account.PurgeCutoffsAt(now)
	for _, p := range []struct {
		q      *sqldb.Stmt
		before time.Time
	}{{stmt("revocation_purge"), at.Revocations}, {stmt("spent_purge"), at.SpentTokens}, {stmt("session_purge"), at.Sessions}} {
		for {
			// Each batch is a transaction of its own, so that logins can run between two batches.
			n, err := s.db.Exec(ctx, p.q, p.before.UnixMilli(), purgeLimit)
			if err != nil {
				return err
			}
			if n < purgeLimit {
				break
			}
		}
	}
	for _, q := range []*sqldb.Stmt{stmt("cap_purge"), stmt("otp_purge")} {
		if _, err := s.db.Exec(ctx, q, at.Counts.UnixMilli()); err != nil {
			return err
		}
	}
	return nil
}
