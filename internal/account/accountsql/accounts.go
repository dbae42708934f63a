// Package accountsql stores accounts, sessions, PINs, codes and the installation's keys in SQL.
package accountsql

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"comanda/internal/account"
	"comanda/internal/authz"
	"comanda/internal/document/documentsql"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

// Accounts is account.UserStore, account.SessionStore, account.PinStore, account.CodeStore and account.AuthStore on a
// database.
//
// Locks are taken in one order: a count of codes, a code, an account, its sessions, the audit log. Only Rotate locks a
// session without its account; it takes no further lock.
type Accounts struct{ db *sqldb.DB }

// NewAccounts returns a store on a database.
func NewAccounts(db *sqldb.DB) *Accounts { return &Accounts{db} }

// Find returns the account with an e-mail address or a username.
func (s *Accounts) Find(ctx context.Context, email, username string) (account.User, bool, error) {
	return sqldb.One(ctx, s.db, scanUser, stmt("account_find"), email, username)
}

// User returns an account, or authz.ErrUser.
func (s *Accounts) User(ctx context.Context, id int64) (account.User, error) {
	return oneUser(ctx, s.db, stmt("account_select"), id)
}

// LockUser returns an account and locks its row until the transaction ends, or returns authz.ErrUser. Lock the
// account before changing it or ending its sessions.
func LockUser(ctx context.Context, tx sqldb.Tx, id int64) (account.User, error) {
	return oneUser(ctx, tx, stmt("account_lock"), id)
}

// oneUser returns the account that q selects, or authz.ErrUser.
func oneUser(ctx context.Context, conn sqldb.Conn, q *sqldb.Stmt, id int64) (account.User, error) {
	return sqldb.Get(ctx, conn, authz.ErrUser, scanUser, q, id)
}

// Register creates an account with its first code and queues the e-mail.
func (s *Accounts) Register(
	ctx context.Context, u account.User, c account.Code, l account.Email, choices account.MailChoices, locale string,
) (account.User, error) {
	err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		made, err := InsertUser(ctx, tx, u)
		if err != nil {
			return err
		}
		u, c.UserID = made, made.ID
		// The code is counted without checking the limit: an address registers once, and the unique index refuses a
		// second account.
		tx.Queue(stmt("cap_add"), actionSend, c.Destination, c.SentAt.UnixMilli())
		putCode(tx, c)
		// An account without a row has the default choices.
		if choices.News {
			putChoices(tx, u.ID, choices, u.CreatedAt)
			tx.Queue(stmt("consent_insert"), u.ID, 1, string(account.ConsentRegistration), locale, u.CreatedAt.UnixMilli())
		}
		return QueueEmail(tx, c.SentAt, l)
	})
	return u, s.uniqueError(ctx, u, err)
}

// InsertUser creates an account with the role named by u, at u.CreatedAt by u.CreatedBy, and returns it with its id. A
// taken unique value returns sqldb.ErrUnique; see UniqueError.
func InsertUser(ctx context.Context, tx sqldb.Tx, u account.User) (account.User, error) {
	ids, _, err := sqldb.One(ctx, tx, sqldb.Pair, stmt("account_insert"),
		null(u.Username), null(u.Email), null(u.Phone), null(u.DeviceID), null(u.PasswordHash), u.Role, string(u.Status),
		null(u.Address), null(u.Gender), null(u.FirstName), null(u.Surname), u.Age, null(u.Occupation), null(u.Province),
		null(u.City), null(u.Geolocation), extra(u), sqldb.Flag(u.Registered), u.CreatedAt.UnixMilli(), u.CreatedBy,
		account.FullTrust)
	if err != nil {
		return u, err
	}
	u.TrustScore = account.FullTrust
	u.ID, u.RoleID, u.UpdatedAt, u.UpdatedBy, u.Version = ids[0], ids[1], u.CreatedAt, u.CreatedBy, 1
	documentsql.Changed(tx, u.CreatedAt, userEntity, strconv.FormatInt(u.ID, 10))
	return u, nil
}

// userEntity is the document kind of accounts.
const userEntity = "user"

// UpdateProfile applies change to an account's profile.
func (s *Accounts) UpdateProfile(
	ctx context.Context, id int64, now time.Time, change func(account.Profile) (account.Profile, error),
) (u account.User, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if u, err = LockUser(ctx, tx, id); err != nil {
			return err
		}
		if u.Profile, err = change(u.Profile); err != nil {
			return err
		}
		u, err = WriteProfile(ctx, tx, u, now, "user:"+strconv.FormatInt(id, 10))
		return err
	})
	return u, s.uniqueError(ctx, u, err)
}

// WriteProfile updates the profile of a locked account, except its e-mail address, and returns the account after it.
func WriteProfile(
	ctx context.Context, tx sqldb.Tx, u account.User, now time.Time, by string,
) (account.User, error) {
	_, err := tx.Exec(ctx, stmt("account_update"),
		u.ID, null(u.Username), null(u.Phone), null(u.DeviceID), null(u.Address), null(u.Gender), null(u.FirstName),
		null(u.Surname), u.Age, null(u.Occupation), null(u.Province), null(u.City), null(u.Geolocation), extra(u),
		now.UnixMilli(), by)
	if err != nil {
		return u, err
	}
	u.UpdatedAt, u.UpdatedBy, u.Version = now, by, u.Version+1
	documentsql.Changed(tx, now, userEntity, strconv.FormatInt(u.ID, 10))
	return u, nil
}

// uniqueError is UniqueError on the store's database.
func (s *Accounts) uniqueError(ctx context.Context, u account.User, err error) error {
	return UniqueError(ctx, s.db, u, err)
}

// UniqueError translates sqldb.ErrUnique of an account, after its transaction was rolled back, into the error of the
// taken value. Other errors are returned unchanged.
func UniqueError(ctx context.Context, db *sqldb.DB, u account.User, err error) error {
	if !errors.Is(err, sqldb.ErrUnique) {
		return err
	}
	// sqldb.ErrUnique does not name the taken value, so the other account is read.
	if other := taken(ctx, db, u); fault.KindOf(other) == fault.Conflict {
		return other
	}
	return account.ErrTaken.Because(err) // the other account has changed its value meanwhile, or cannot be read
}

// taken returns the error of the first unique value of u that another account has, or nil if none is taken.
func taken(ctx context.Context, conn sqldb.Conn, u account.User) error {
	other, found, err := sqldb.One(ctx, conn, func(r sqldb.Rows) (p account.Profile, err error) {
		err = r.Scan(&p.Email, &p.Username, &p.Phone, &p.DeviceID)
		return p, err
	}, stmt("account_taken"), u.ID, u.Email, u.Username, u.Phone, u.DeviceID)
	if err != nil || !found {
		return err
	}
	return account.TakenError(u.Profile, other)
}

// QueueEmail adds an e-mail to the outbox of the transaction.
func QueueEmail(tx sqldb.Tx, now time.Time, l account.Email) error {
	fields, err := json.Marshal(l.Fields)
	if err != nil {
		return err
	}
	tx.Queue(stmt("mail_insert"), uid.New(now), l.To, l.Template, l.Locale, string(fields), now.UnixMilli(),
		l.Expires.UnixMilli())
	return nil
}

// scanUser reads the columns of account_select, including the password hash: never log a User.
func scanUser(r sqldb.Rows) (u account.User, err error) {
	var profile, branches, flags string
	err = r.Scan(&u.ID, &u.Username, &u.Email, &u.Phone, &u.DeviceID, &u.GoogleID, &u.PasswordHash, &u.RoleID, &u.Role,
		&u.Status, &u.Address, &u.Gender, &u.FirstName, &u.Surname, &u.Age, &u.Occupation, &u.Province, &u.City,
		&u.Geolocation, &u.TrustScore, &flags, &profile, sqldb.Bool(&u.Registered), sqldb.Time(&u.ValidFrom), &u.Failures,
		sqldb.Time(&u.CreatedAt), sqldb.Time(&u.UpdatedAt), &u.CreatedBy, &u.UpdatedBy, &u.Version,
		sqldb.Time(&u.LastLogin), &branches)
	if profile != "{}" {
		u.Extra = json.RawMessage(profile)
	}
	u.Branches = idList(branches)
	if flags != "" && err == nil {
		err = json.Unmarshal([]byte(flags), &u.Flags)
	}
	return u, err
}

// null stores an empty text as NULL, so that it matches no lookup and no unique index.
func null(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// extra returns the open object of a profile for its column, which is never NULL.
func extra(u account.User) string {
	if u.Extra == nil {
		return "{}"
	}
	return string(u.Extra)
}

// idList parses ids joined by commas.
func idList(s string) (ids []int64) {
	for part := range strings.SplitSeq(s, ",") {
		id, err := strconv.ParseInt(part, 10, 64)
		if err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// MoveDeadlines moves the expiry of unused one-time codes by the same amount as the deciding clock was set. It returns
// the number of codes. Sessions last for weeks and are not moved.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, stmt("otp_deadline_move"), by.Milliseconds())
}

// purgeLimit is the number of rows that one statement deletes, so that its locks are short.
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
