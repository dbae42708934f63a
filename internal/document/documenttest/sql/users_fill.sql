WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $1)
INSERT INTO app_user (id, username, email, phone, role_id, status, address, first_name, surname, province, city, registered,
                      created_at, updated_at)
SELECT i, 'user' || CAST(i AS TEXT), 'user' || CAST(i AS TEXT) || '@example.com', '+8490' || CAST(10000000 + i AS TEXT), 1,
       'ACTIVE', CAST(i AS TEXT) || ' Phố Huế, Hà Nội', 'Minh', 'Nguyễn', 'province ' || CAST(i % 63 AS TEXT),
       'city ' || CAST(i % 700 AS TEXT), i % 2, 1772082000000, 1772082000000
FROM n
