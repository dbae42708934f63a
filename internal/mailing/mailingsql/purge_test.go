package mailingsql_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/mailing"
	"comanda/internal/mailing/mailingsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

var purgeStmts = sqldb.Load(fstest.MapFS{
	"finish.sql": {Data: []byte(`UPDATE mailing SET state = 'SENT', expanded = 1, finished_at = $2 WHERE id = $1`)},
	"recipient.sql": {Data: []byte(
		`INSERT INTO mailing_recipient (mailing_id, user_id, mail_id, state) VALUES ($1, $2, $3, $4)`)},
	"recipients.sql": {Data: []byte(`SELECT COUNT(*) FROM mailing_recipient`)},
	"pending.sql":    {Data: []byte(`UPDATE app_user SET status = 'PENDING', registered = 0 WHERE id = $1`)},
	"consent.sql":    {Data: []byte(`UPDATE account_mail SET news = 1 WHERE user_id = $1`)},
})

// Recipients of finished mailings are deleted and stay counted. A mailing that finished later keeps its rows, and so does the
// reminder to a member who has not finished the registration: no second one is sent.
func TestStore_PurgeRecipients(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		env := accounttest.Open(t, db, accounttest.NewSessionCache())
		store := mailingsql.New(db)
		exec := func(name string, args ...any) {
			t.Helper()
			testenv.Must(db.Exec(t.Context(), purgeStmts.Must(name), args...))(t)
		}
		var members []account.User
		for _, name := range []string{"a", "b", "c", "d"} {
			members = append(members, env.CreateMember(t, name+"@example.com"))
		}
		for _, u := range members[:2] {
			exec("consent", u.ID)
		}
		for _, u := range members[2:] {
			exec("pending", u.ID)
		}
		now := env.Clock.Now()
		finished := func(id string, k mailing.Kind, at time.Time, states map[int]string) {
			t.Helper()
			m := mailing.Mailing{ID: id, Kind: k, State: mailing.Sending, CreatedAt: now, CreatedBy: "user:1"}
			testenv.Must2(store.Create(t.Context(), authz.System(), m, id, id))(t)
			for i, state := range states {
				exec("recipient", id, members[i].ID, fmt.Sprint(id, i), state)
			}
			exec("finish", id, at.UnixMilli())
		}
		cutoff := now.Add(time.Hour)
		finished("old", mailing.News, now, map[int]string{0: "SENT", 1: "SENT", 2: "FAILED", 3: "SKIPPED"})
		finished("new", mailing.News, cutoff, map[int]string{0: "SENT", 1: "FAILED"})
		finished("reminder", mailing.Reminder, now, map[int]string{2: "SENT", 3: "SENT", 0: "SENT"}) // 0 has registered since

		want := testenv.Must(list(t, store))(t)
		for range 2 { // the second round finds nothing
			testenv.NoError(t, store.PurgeRecipients(t.Context(), cutoff))
			testenv.Equal(t, testenv.Must(list(t, store))(t), want)
			testenv.Equal(t, 4, env.Number(t, purgeStmts.Must("recipients")))
		}
		if i := slices.IndexFunc(want, func(m mailing.Mailing) bool { return m.ID == "old" }); want[i].Queued != 4 ||
			want[i].Delivered != 2 || want[i].Failed != 1 || want[i].Skipped != 1 {
			t.Errorf("the old mailing is %+v", want[i])
		}
		counts := testenv.Must(store.Count(t.Context(), mailing.MemberSegment{}, now))(t)
		if counts.Remindable != 0 {
			t.Errorf("%d members would be reminded again", counts.Remindable)
		}
	})
}

// list returns all mailings with their counts.
func list(t *testing.T, store *mailingsql.Store) ([]mailing.Mailing, error) {
	t.Helper()
	all, _, err := store.Mailings(t.Context(), 10, 0)
	return all, err
}
