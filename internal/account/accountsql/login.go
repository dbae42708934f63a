package accountsql

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"comanda/internal/account"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/authz/authzsql"
	"comanda/internal/document/documentsql"
	"comanda/internal/sqldb"
)

// FindGoogle implements account.GoogleStore.
func (s *Accounts) FindGoogle(ctx context.Context, subject string) (account.User, bool, error) {
	return sqldb.One(ctx, s.db, scanUser, stmt("account_google"), subject)
}

// CreateGoogle implements account.GoogleStore.
func (s *Accounts) CreateGoogle(ctx context.Context, u account.User, l account.Email) (account.User, error) {
	err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		made, err := InsertUser(ctx, tx, u)
		if err != nil {
			return err
		}
		u = made
		if _, err := tx.Exec(ctx, stmt("google_set"), u.ID, u.GoogleID, u.CreatedAt.UnixMilli()); err != nil {
			return err
		}
		u.Version++
		tx.Queue(stmt("choice_locale"), u.ID, l.Locale, u.CreatedAt.UnixMilli())
		return QueueEmail(tx, u.CreatedAt, l)
	})
	return u, s.googleError(ctx, u, err)
}

// LinkGoogle implements account.GoogleStore.
func (s *Accounts) LinkGoogle(ctx context.Context, was account.User, l account.GoogleLink) (u account.User, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// The rule was decided on what was read before; an account that has changed since is decided again.
		if u, err = LockUser(ctx, tx, was.ID); err != nil {
			return err
		}
		if u.Status != was.Status || u.Email != was.Email || u.Registered != was.Registered || u.GoogleID != was.GoogleID ||
			u.PasswordHash != was.PasswordHash || authz.IsStaff(u.Role) {
			return account.ErrGoogleTaken
		}
		set := stmt("google_set")
		if u.Status == account.Pending {
			set = stmt("google_activate")
		}
		if _, err := tx.Exec(ctx, set, u.ID, l.Subject, l.Now.UnixMilli()); err != nil {
			return err
		}
		if err := finishGoogle(ctx, tx, l.By, l.Now, audit.ActionGoogleLinked, u.ID, l.Notice); err != nil {
			return err
		}
		u, err = oneUser(ctx, tx, stmt("account_select"), u.ID)
		return err
	})
	was.GoogleID = l.Subject
	return u, s.googleError(ctx, was, err)
}

// UnlinkGoogle implements account.GoogleStore.
func (s *Accounts) UnlinkGoogle(
	ctx context.Context, by authz.Actor, now time.Time, notice account.Email,
) (u account.User, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if u, err = LockUser(ctx, tx, by.UserID); err != nil || u.GoogleID == "" {
			return err
		}
		if u.PasswordHash == "" {
			return account.ErrGoogleOnly
		}
		if _, err := tx.Exec(ctx, stmt("google_set"), u.ID, nil, now.UnixMilli()); err != nil {
			return err
		}
		if err := finishGoogle(ctx, tx, by, now, audit.ActionGoogleUnlinked, u.ID, notice); err != nil {
			return err
		}
		u, err = oneUser(ctx, tx, stmt("account_select"), u.ID)
		return err
	})
	return u, err
}

// finishGoogle finishes a change of the connection to Google: the document, the e-mail and the audit log.
func finishGoogle(
	ctx context.Context, tx sqldb.Tx, by authz.Actor, now time.Time, action string, user int64, notice account.Email,
) error {
	documentsql.Changed(tx, now, userEntity, strconv.FormatInt(user, 10))
	if notice.To != "" {
		if err := QueueEmail(tx, now, notice); err != nil {
			return err
		}
	}
	return recordGoogle(ctx, tx, by, now, action, user)
}

// recordGoogle records a change of the connection to Google in the audit log, also of members: it is a way to log in.
func recordGoogle(ctx context.Context, tx sqldb.Tx, by authz.Actor, now time.Time, action string, user int64) error {
	return auditsql.Record(ctx, tx, audit.NewEntry(by, now, action, "user", strconv.FormatInt(user, 10), 0))
}

// googleError translates sqldb.ErrUnique: of the id at Google, or of another value.
func (s *Accounts) googleError(ctx context.Context, u account.User, err error) error {
	if !errors.Is(err, sqldb.ErrUnique) {
		return err
	}
	if other, found, errFind := s.FindGoogle(ctx, u.GoogleID); errFind == nil && found && other.ID != u.ID {
		return account.ErrGoogleTaken
	}
	return s.uniqueError(ctx, u, err)
}

// TryPin counts an attempt at a PIN and returns its hash.
func (s *Accounts) TryPin(ctx context.Context, user int64) (string, error) {
	var hash string
	err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) (err error) {
		hash = "" // the transaction may be retried
		u, err := oneUser(ctx, tx, stmt("account_select"), user)
		if err != nil {
			return err
		}
		if err := checkPinRole(ctx, tx, u.Role, u.RoleID); err != nil {
			if errors.Is(err, account.ErrPinRole) { // as an account without a PIN
				return nil
			}
			return err
		}
		// One statement checks, counts and reads, so concurrent attempts cannot pass the limit together.
		hash, err = sqldb.Scalar[string](ctx, tx, stmt("pin_try"), user, account.MaxPinFailures)
		return err
	})
	return hash, err
}

// checkPinRole returns account.ErrPinRole if users of a role may have no PIN. An operator can add permissions of
// administrators to a custom role, and to one that is built in.
func checkPinRole(ctx context.Context, conn sqldb.Reader, name string, role int64) error {
	if !account.MayHavePin(name) {
		return account.ErrPinRole
	}
	permissions, err := authzsql.SelectRolePermissions(ctx, conn, role)
	if err == nil && authz.Administrative(permissions) {
		err = account.ErrPinRole
	}
	return err
}

// SetPin sets an actor's PIN. It locks the account first, as Begin does before it reads the PIN. The password was verified
// before: a reset since then must not leave a PIN of the old password.
func (s *Accounts) SetPin(ctx context.Context, by authz.Actor, verified, hash string, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		u, err := LockUser(ctx, tx, by.UserID)
		if err != nil {
			return err
		}
		if u.PasswordHash != verified {
			return account.ErrPassword
		}
		if err := checkPinRole(ctx, tx, u.Role, u.RoleID); err != nil {
			return err
		}
		tx.QueueExactly(1, stmt("pin_put"), by.UserID, hash, now.UnixMilli())
		return recordPin(ctx, tx, by, now)
	})
}

// RemovePin removes an actor's PIN.
func (s *Accounts) RemovePin(ctx context.Context, by authz.Actor, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := LockUser(ctx, tx, by.UserID); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, stmt("pin_delete"), by.UserID)
		// Without a PIN nothing changed, so there is nothing to audit.
		if err != nil || n == 0 {
			return err
		}
		return recordPin(ctx, tx, by, now)
	})
}

// recordPin records a change of an actor's own PIN in the audit log.
func recordPin(ctx context.Context, tx sqldb.Tx, by authz.Actor, now time.Time) error {
	return auditsql.Record(ctx, tx, audit.NewEntry(by, now, audit.ActionPin, "user", strconv.FormatInt(by.UserID, 10), 0))
}

// Colleagues implements account.PinStore.
func (s *Accounts) Colleagues(ctx context.Context, by authz.Actor) ([]account.Colleague, error) {
	roles := map[string]int64{}
	found, err := sqldb.Collect(ctx, s.db, func(r sqldb.Rows) (c account.Colleague, err error) {
		var role, failures int64
		err = r.Scan(&c.UserID, &c.FirstName, &c.Surname, &c.Login, &c.Role, &role, &failures)
		c.Blocked = failures >= account.MaxPinFailures
		roles[c.Role] = role
		return c, err
	}, stmt("pin_colleagues"), account.MaxPinFailures, sqldb.Flag(by.AllBranches),
		sqldb.IDs(by.Branches), by.UserID)
	if err != nil {
		return nil, err
	}
	for name, id := range roles {
		switch err := checkPinRole(ctx, s.db, name, id); {
		case errors.Is(err, account.ErrPinRole):
			found = slices.DeleteFunc(found, func(c account.Colleague) bool { return c.Role == name })
		case err != nil:
			return nil, err
		}
	}
	return found, nil
}
