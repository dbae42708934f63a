package visithttp

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
)

func (s *staff) registerCodes(a *httpapi.API) {
	ops := a.Operations("Codes", httpapi.Staff) // a permission module of its own, because a code admits guests
	httpapi.RegisterOutput(ops, "staff-table-sheet", "GET /api/tables/qr-sheet",
		"Print the tables' QR codes on A4 sheets to cut", s.sheet, binary("text/html", "The sheet."))
	httpapi.RegisterOutput(ops, "staff-table-code", "GET /api/tables/{id}/qr.svg",
		"Download the QR code of a table as an image", s.code, binary("image/svg+xml", "The code with its quiet zone."))
}

// binary describes a body of bytes for the OpenAPI document, which cannot derive it.
func binary(mediaType, description string) httpapi.Option {
	schema := &huma.Schema{Type: huma.TypeString}
	return func(op *huma.Operation) {
		op.Responses = map[string]*huma.Response{"200": {
			Description: description, Content: map[string]*huma.MediaType{mediaType: {Schema: schema}},
		}}
	}
}

type sheetIn struct {
	BranchID int64   `query:"branchId" required:"true" minimum:"1"`
	TableIDs []int64 `query:"tableIds" maxItems:"200" doc:"Comma-separated; all tables in use if omitted."`
}

// secretFile is a file that contains QR tokens and must not be cached.
type secretFile struct {
	ContentType  string `header:"Content-Type"`
	CacheControl string `header:"Cache-Control"`
	CSP          string `header:"Content-Security-Policy"`
	Disposition  string `header:"Content-Disposition"`
	Body         []byte
}

func (s *staff) sheet(ctx context.Context, in *sheetIn) (*secretFile, error) {
	b, tables, err := s.floor.Codes(ctx, authz.ActorOf(ctx), in.BranchID, in.TableIDs)
	if err != nil {
		return nil, err
	}
	body, err := sheet(b, tables, s.link, s.floor.Now())
	if err != nil {
		return nil, fault.Wrap("draw a sheet of codes", err)
	}
	return &secretFile{"text/html; charset=utf-8", "no-store", sheetCSP, `inline; filename="tables.html"`, body}, nil
}

func (s *staff) code(ctx context.Context, in *httpapi.ByID) (*secretFile, error) {
	t, err := s.floor.Code(ctx, authz.ActorOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	c, err := newQRCode(s.link(t))
	if err != nil {
		return nil, fault.Wrap("draw a code", err)
	}
	return &secretFile{
		"image/svg+xml", "no-store", "default-src 'none'; frame-ancestors 'none'",
		`inline; filename="table-` + httpapi.FormatID(t.ID) + `.svg"`,
		c.svg(),
	}, nil
}
