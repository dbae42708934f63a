package app

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"comanda/internal/document"
	"comanda/internal/document/documentsql"
	"comanda/internal/identity"
	"comanda/internal/identity/identitysql"
	"comanda/internal/sqldb"
)

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
			return nil, fmt.Errorf("%q is no entity", name)
		}
		chosen = append(chosen, e)
	}
	return chosen, nil
}

// ExportDocuments writes documents as JSON lines and records the export in the audit log.
func ExportDocuments(
	ctx context.Context, db *sqldb.DB, entities []*document.Entity, to io.Writer, report func(document.Progress),
) (int, error) {
	n, err := document.Export(ctx, documentsql.New(db), entities, to, report)
	if err != nil {
		return n, err
	}
	names := make([]string, len(entities))
	for i, e := range entities {
		names[i] = e.Name
	}
	return n, record(ctx, db, identity.ActionExported, "documents", strconv.Itoa(n), names)
}

func record(ctx context.Context, db *sqldb.DB, action, kind, id string, detail any) error {
	return identitysql.RecordAuditAlone(ctx, db, identity.NewAuditEntry(identity.System(), db.Now(), action, kind, id, 0).WithAfter(detail))
}

// ImportDocuments reads JSON lines as ExportDocuments writes them.
func ImportDocuments(
	ctx context.Context, db *sqldb.DB, from io.ReadSeeker, on document.OnConflict, check bool, report func(document.Progress),
) (document.ImportResult, error) {
	im := document.Import{Target: documentsql.New(db), OnConflict: on, DryRun: check, Report: report}
	result, err := im.Run(ctx, from)
	if err != nil || check {
		return result, err
	}
	return result, record(ctx, db, identity.ActionImported, "documents", strconv.Itoa(result.Lines), result.Written)
}

// Backup copies a SQLite database into a file while servers run.
func Backup(ctx context.Context, db *sqldb.DB, file string) error {
	if err := db.Backup(ctx, file); err != nil {
		return err
	}
	return record(ctx, db, identity.ActionExported, "backup", db.Now().Format("2006-01-02T15:04:05Z"), nil)
}
