package identitysql

import (
	"context"
	"time"

	"comanda/internal/identity"
	"comanda/internal/sqldb"
)

// purgeLimit is how many rows one statement deletes, so that its locks are short.
const purgeLimit = 5000

// Purge deletes rows that are no longer needed. Several processes may run it at once.
func (s *Accounts) Purge(ctx context.Context, now time.Time) error {
	at := identity.PurgeCutoffsAt(now)
	for _, p := range []struct {
		q      *sqldb.Stmt
		before time.Time
	}{{revocationPurge, at.Revocations}, {spentPurge, at.SpentTokens}, {sessionPurge, at.Sessions}} {
		for {
			n, err := s.db.Exec(ctx, p.q, p.before.UnixMilli(), purgeLimit)
			if err != nil {
				return err
			}
			if n < purgeLimit {
				break
			}
		}
	}
	for _, q := range []*sqldb.Stmt{capPurge, otpPurge} {
		if _, err := s.db.Exec(ctx, q, at.Counts.UnixMilli()); err != nil {
			return err
		}
	}
	return nil
}
