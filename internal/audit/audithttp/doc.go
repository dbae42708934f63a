// Package audithttp has the route of the audit log.
package audithttp
