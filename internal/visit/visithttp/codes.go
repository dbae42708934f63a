package visithttp

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
)

func (s *staff) registerCodes(a *httpapi.API) {
	tags := []string{"Codes"} // a permission module of its own, because a code admits guests
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-table-sheet", Method: http.MethodGet, Path: "/api/tables/qr-sheet", Tags: tags,
		Summary: "A sheet of tables' codes to print on A4 and cut", Responses: binaryResponse("text/html", "The sheet."),
	}, httpapi.Staff, s.sheet)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-table-code", Method: http.MethodGet, Path: "/api/tables/{id}/qr.svg", Tags: tags,
		Summary: "The code of one table as an image", Responses: binaryResponse("image/svg+xml", "The code with its quiet zone."),
	}, httpapi.Staff, s.code)
}

// binaryResponse describes a body of bytes for the OpenAPI document, which cannot derive it.
func binaryResponse(mediaType, what string) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {
		Description: what, Content: map[string]*huma.MediaType{mediaType: {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
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

func (s *staff) code(ctx context.Context, in *rotateIn) (*secretFile, error) {
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
		`inline; filename="table-` + decimal(t.ID) + `.svg"`,
		c.svg(),
	}, nil
}
