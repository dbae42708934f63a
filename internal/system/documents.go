package system

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accountsql"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/authz/authzsql"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/clock"
	"comanda/internal/document"
	"comanda/internal/document/documentredis"
	"comanda/internal/document/documentsql"
	"comanda/internal/fault"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

// Index returns the state of the documents in Redis. It compares them with SQL unless there are more than MaxDocuments. If
// Redis holds more than MaxScanned keys, also those of other programs, it does not look for keys that SQL does not imply:
// Redis has no index of the keys of a namespace, so that only a scan of all keys finds them.
func (s *Service) Index(ctx context.Context) (Index, error) {
	return exclusive(s, func() (x Index, err error) {
		x.Whole = s.Epoch() != ""
		if x.Documents, err = s.CountDocuments(ctx); err != nil {
			return x, err
		}
		switch {
		case s.NoDocuments:
			x.Whole, x.Note = true, noDocuments
		case !s.Redis.Up():
			x.Note = "Redis is out of reach; documents are read from SQL meanwhile."
		case x.Documents > MaxDocuments:
			x.Note = "There are too many documents to compare within a request. Use the command comanda index verify."
		default:
			v, err := s.verifyWithin(ctx, s.maxScanned)
			x.Verification = &v
			return x, err
		}
		return x, nil
	})
}

// verifyWithin is VerifyDocuments for a client that waits. With more than most keys in Redis it compares only what SQL
// implies, and does not save the result, which must not replace that of a complete comparison.
func (s *Service) verifyWithin(ctx context.Context, most int64) (document.Verification, error) {
	keys, err := s.countKeys(ctx)
	if err != nil {
		return document.Verification{}, err
	}
	if keys <= most {
		return s.VerifyDocuments(ctx, nil)
	}
	v, err := s.verifier(unscanned{documentredis.New(s.Redis)}, nil).Verify(ctx)
	v.Note = fmt.Sprintf("Redis holds %d keys, too many to scan within a request. This comparison covers the documents in the "+
		"database, but not keys without one. Use the command comanda index verify.", keys)
	return v, err
}

// unscanned is a mirror without a scan of all keys.
type unscanned struct{ *documentredis.Store }

// Walk implements document.Walker.
func (unscanned) Walk(context.Context, *document.KeySet, func(context.Context, []document.Difference) error) error {
	return nil
}

// countKeys returns the number of keys on all masters, including those of other programs.
func (s *Service) countKeys(ctx context.Context) (total int64, err error) {
	c, err := s.Redis.Inspect(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	for _, m := range c.Masters() {
		n, err := m.Size(ctx)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

const noDocuments = "Without a Redis, no documents are kept; they are read from SQL. Set COMANDA_REDIS_LISTEN to keep " +
	"them in the process."

// KeepsDocuments reports, for a command, whether there are documents to compare or rebuild. The store inside of a server
// has none until a rebuild has begun, and on most installations never. note is the reason.
func (s *Service) KeepsDocuments(ctx context.Context) (kept bool, note string, err error) {
	if !s.Redis.Embedded() {
		return true, "", nil
	}
	g, err := documentsql.New(s.DB).Generation(ctx)
	if err != nil || g.Epoch != "" || g.Building != "" {
		return true, "", err
	}
	return false, noDocuments, nil
}

// verifyPause is the time between two comparisons of a difference, far longer than a change takes to reach Redis.
const verifyPause = 500 * time.Millisecond

// VerifyDocuments compares the documents in Redis with SQL. report may be nil. It reads every document and every key,
// beside running servers, and changes nothing. It saves the result like the daily comparison of a server, so that an
// alert about differences ends once they are repaired.
func (s *Service) VerifyDocuments(
	ctx context.Context, report func(document.Progress),
) (document.Verification, error) {
	result, err := s.verifier(documentredis.New(s.Redis), report).Verify(ctx)
	if err != nil {
		return result, err
	}
	g, err := documentsql.New(s.DB).Generation(ctx)
	if err != nil || g.Epoch == "" { // a rebuild follows; what it has not written yet is not a difference of the documents
		return result, err
	}
	return result, documentredis.New(s.Redis).SaveVerified(ctx, document.Verified{At: s.DB.Now(), Found: result.Found})
}

func (s *Service) verifier(m document.Mirror, report func(document.Progress)) *document.Verifier {
	return &document.Verifier{
		Source: documentsql.New(s.DB), Mirror: m, Report: report,
		Pause: func(ctx context.Context) error { return clock.Wait(ctx, verifyPause) },
	}
}

// lastVerified returns the last comparison; ok is false if there is none, and without a Redis that answers.
func (s *Service) lastVerified(ctx context.Context) (v document.Verified, ok bool) {
	if s.NoDocuments || s.Redis == nil || !s.Redis.Up() {
		return v, false
	}
	v, ok, err := documentredis.New(s.Redis).LastVerified(ctx)
	return v, ok && err == nil
}

// RebuildDocuments writes all documents again, while servers run. It returns document.ErrRebuildRunning if a server is
// doing the same.
func (s *Service) RebuildDocuments(ctx context.Context, report func(document.Progress)) error {
	rows, cache := documentsql.New(s.DB), documentredis.New(s.Redis)
	b := &document.Builder{
		Source: rows, Sweeper: cache, Store: rows, Markers: cache, Now: s.DB.Now, NewID: uid.New, Report: report,
		Projector: &document.Projector{Source: rows, Outbox: rows, Writer: cache, Now: s.DB.Now},
	}
	return b.Build(ctx)
}

// CountDocuments returns the number of documents.
func (s *Service) CountDocuments(ctx context.Context) (total int, err error) {
	for _, e := range document.Entities {
		_, n, err := documentsql.New(s.DB).Page(ctx, e, 0, 1)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// ParseEntities reads a list of entities such as "user,role". An empty list means all that can be imported; "all" adds
// orders.
func ParseEntities(list string) ([]*document.Entity, error) {
	switch list {
	case "":
		return document.Importable(), nil
	case "all":
		return document.Entities, nil
	}
	var chosen []*document.Entity
	for name := range strings.SplitSeq(list, ",") {
		e := document.ByName(strings.TrimSpace(name))
		if e == nil {
			return nil, fmt.Errorf("%q is not an entity", name)
		}
		chosen = append(chosen, e)
	}
	return chosen, nil
}

// Export writes documents as JSON lines and records the export in the audit log.
func (s *Service) Export(
	ctx context.Context, entities []*document.Entity, to io.Writer, report func(document.Progress),
) (int, error) {
	n, err := document.Export(ctx, documentsql.New(s.DB), entities, to, report)
	if err != nil {
		return n, err
	}
	// The audit log names the exported entities, not their content.
	names := seq.Map(entities, func(e *document.Entity) string { return e.Name })
	return n, s.record(ctx, authz.System(), audit.ActionExported, "documents", strconv.Itoa(n), names)
}

// Import reads JSON lines as Export writes them. With check it writes nothing. It reads from twice. The outbox of
// documents updates the servers' caches, as after any change.
func (s *Service) Import(
	ctx context.Context, from io.ReadSeeker, on document.OnConflict, check bool,
) (document.ImportResult, error) {
	rows := documentsql.New(s.DB)
	im := document.Import{Target: rows, OnConflict: on, DryRun: check, Normalize: normalizeUser}
	rule := &ownerRule{losing: map[int64]int{}}
	if on == document.Replace {
		var err error
		if rule.roles, err = authzsql.NewRoles(s.DB).Roles(ctx); err != nil {
			return document.ImportResult{}, err
		}
		im.Normalize = func(e *document.Entity, r document.Record) error {
			return cmp.Or(normalizeUser(e, r), rule.read(e, r))
		}
		im.Accept = func(ctx context.Context) error { return rule.check(ctx, s.DB) }
	}
	rows.BeforeImport = func(ctx context.Context, tx sqldb.Tx, e *document.Entity, records []document.Record) error {
		if e != document.User {
			return nil
		}
		if err := rule.checkLocked(ctx, tx); err != nil {
			return err
		}
		return accountsql.EndReplaced(ctx, tx, seq.Map(records, importedUser), s.DB.Now())
	}
	result, err := im.Run(ctx, from)
	if err != nil || check {
		return result, err
	}
	return result, s.record(ctx, authz.System(), audit.ActionImported, "documents", strconv.Itoa(result.Lines), result.Written)
}

// importedUser returns the id, the role and the status of an imported account.
func importedUser(r document.Record) account.User {
	return account.User{
		ID: r.Number(document.User, "id"), RoleID: r.Number(document.User, "roleId"),
		Status: account.Status(r.Text(document.User, "accountStatus")),
	}
}

// normalizeUser validates an imported account as the routes do, and stores its texts as they are looked up. The routes
// validate the whole profile at each change, so an account with one invalid value could not be edited.
func normalizeUser(e *document.Entity, r document.Record) error {
	if e != document.User {
		return nil
	}
	p := account.Profile{Extra: json.RawMessage(r.Text(e, "profile"))}
	texts := map[string]*string{
		"username": &p.Username, "email": &p.Email, "phone": &p.Phone, "deviceId": &p.DeviceID, "address": &p.Address,
		"firstName": &p.FirstName, "surname": &p.Surname, "occupation": &p.Occupation, "province": &p.Province,
		"city": &p.City, "geolocation": &p.Geolocation,
	}
	for field, text := range texts {
		*text = r.Text(e, field)
	}
	p, err := p.Normalized()
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return errors.New(strings.TrimSuffix(f.Detail, "."))
	}
	if err != nil {
		return err
	}
	for field, text := range texts {
		if *text != r.Text(e, field) { // an empty text that was given stays one, so that an export has it again
			r.SetText(e, field, *text)
		}
	}
	return nil
}

// ImportHistory takes over closed orders of another system, see ordering.HistoryImport. With check it writes nothing. It
// reads from twice.
func (s *Service) ImportHistory(
	ctx context.Context, from io.ReadSeeker, skipExisting, check bool,
) (ordering.HistoryResult, error) {
	im := ordering.HistoryImport{
		Store: orderingsql.NewHistory(s.DB), Branches: catalogsql.New(s.DB, nil), Now: s.DB.Now, SkipExisting: skipExisting,
		Check: check,
	}
	result, err := im.Run(ctx, from)
	if err != nil || check {
		return result, err
	}
	return result, s.record(ctx, authz.System(), audit.ActionImported, "orders", strconv.Itoa(result.Orders), result)
}

// Backup copies a SQLite database into a file while servers run. The copy contains password hashes and keys, so making
// one is an export for the audit log.
func (s *Service) Backup(ctx context.Context, file string) error {
	if err := s.DB.Backup(ctx, file); err != nil {
		return err
	}
	err := s.record(ctx, authz.System(), audit.ActionExported, "backup", s.DB.Now().Format("2006-01-02T15:04:05Z"), nil)
	if err != nil { // the disk of the database may be full, which is when an operator needs a backup most
		return fmt.Errorf("%s is complete, but the audit log could not record it: %w", file, err)
	}
	return nil
}

// record writes an operator's action to the audit log, in a transaction of its own, because the action consists of
// many. At the command line the operator is authz.System.
func (s *Service) record(ctx context.Context, by authz.Actor, action, kind, id string, detail any) error {
	e := audit.NewEntry(by, s.DB.Now(), action, kind, id, 0).WithAfter(detail)
	return auditsql.RecordAlone(ctx, s.DB, e)
}
