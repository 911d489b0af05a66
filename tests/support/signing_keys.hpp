// Keys of tests, made for them: they sign nothing else.
#pragma once

#include <string>

namespace spillway::support {

inline const std::string kRsaPrivate =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCWrw/cvF5cZgEC\n"
    "NxRsAkrPOkF6ySXR2ipvbITRW0xAE04epMdEHjUwHJc2Kb/zPFPLU8iy8jIEKU61\n"
    "0cmqVDA6Nxbm1BVLr4wvI64j9R5xVYvw261FnsExHhAhLPtb+A20EIqWfk5F6MLL\n"
    "qcZlRaJKhjTXAzYrx6SxuiQnkkxZQIg6wSTcblkruaMF1ywmA0zg5xx3bRSs1Yxk\n"
    "s9Jbmd8hgzgQhutXW02W8tluZeEWIN75wfyzlcCAQi2DpGshPanMbxqkEMktriBd\n"
    "sK61POBx4yL79/0cFf1kshYUOTR+w7QauzfZAvvOii8onGe4CoQ7gXX4S9X7gPuZ\n"
    "Oaj/7LwjAgMBAAECggEAMgWTgneV656BHzchtGleZES2kAhOYcfG5o5j2Qwx1+OQ\n"
    "v2N8MwTEK2CSYgyiCCEywADkU2NLb043LuyhwcWI7Qp0s9Qb7bAtHUj++jjZDk6T\n"
    "0jVa5A27nI6aVCkWmIVUJz6Gg0cSvOp0ICAQGHZxVcQProEGbqor5kQg1HIgnk/n\n"
    "eHx8+pTZxzus1jP9qyKkVsQLzso/ixfW+sifjtCZyMUeAklj4+8ah78fFEE2WRdC\n"
    "Uea8DojlpJ6WBU4e4A2C1Qy11MnrO+PudOTJ3sLr84N5rJImfQA0HX38DLjUhZWi\n"
    "b+36hU4swSf2Ka+yXxjFUfn45wPLoLaMA6t+U1/y4QKBgQDJUzw6d02FGsBGPimi\n"
    "B0tNCfid3b99A27RfdH6QzOgjr93SJixTh6dZ97rbmJJrYguHSIYtMD6hW1Wm9DI\n"
    "7HSdNkw7OHIsCpe/Gsn0WmzlNEt3LBgW1wLItQ+7ycAuAj1g/IGFJtLKaW+LoqkJ\n"
    "LJ7jA0C4kYp0+WKUHkGFmq46fwKBgQC/mxUE259jetvZrMrpQO7i4GM9GJhKXHQG\n"
    "mkLSmFOxWtB5w19B1W1324+K7iwJ8ZdJKJQ97StsKD+y2mkqNKO83wCG0l7uZruz\n"
    "Sky82seSTGzrfmciqtmtHJ4lQtZkf7MuAq+ey4CbZhWENDg6dUMBcL3/5WffYOMX\n"
    "NEecm4iEXQKBgQCt1/kHB2PiDwJ+5UiwCBpm0LhlIUkr2x4DOeFqeEMJXppIl2B6\n"
    "ollfVIUyyOOIeZdBMpjxuot1CGgsxGmaRkxAQNW8wXYdP5xfQfOn07l6hhiwNFws\n"
    "xMc7ptWKM6GGWRrFN+Vjo+2bKUZPzkqmiGg+4N0vQ0XK0lnkSugLRVEzYwKBgGsN\n"
    "8iOBtj914Kpxgfnrfs2ig7AaMtSxbV5XCGj0FSbtz7eIsots/TnPohcE1fREWLvW\n"
    "gWVMQ0ut/VEn+URMnwOjMX8iwUnAerVFGTUXpBQYwW6edG+JOBAiAjZdbr4+H1Xg\n"
    "yFEX8OZiljkEmDoJVIPUg0Qb3/qN/rPzUOOufws9AoGASi4ALdroTwjjHplibQVM\n"
    "f2z27FbNqKLgefXo0m65ixnF57Ye7NO9W/RZv0/OlvQiZQ4UFYLos+rv/eIgf85y\n"
    "nDuWZEtTNCi6MFEsjcRI7ce7IVaMU7KfUuQA/Ywk/PZYFXn96gqjKYn10uJkrGlT\n"
    "ME3VXv5s9cocQKifZ5I2uCY=\n"
    "-----END PRIVATE KEY-----\n";
inline const std::string kRsaPublic =
    "-----BEGIN PUBLIC KEY-----\n"
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAlq8P3LxeXGYBAjcUbAJK\n"
    "zzpBeskl0doqb2yE0VtMQBNOHqTHRB41MByXNim/8zxTy1PIsvIyBClOtdHJqlQw\n"
    "OjcW5tQVS6+MLyOuI/UecVWL8NutRZ7BMR4QISz7W/gNtBCKln5ORejCy6nGZUWi\n"
    "SoY01wM2K8eksbokJ5JMWUCIOsEk3G5ZK7mjBdcsJgNM4Occd20UrNWMZLPSW5nf\n"
    "IYM4EIbrV1tNlvLZbmXhFiDe+cH8s5XAgEItg6RrIT2pzG8apBDJLa4gXbCutTzg\n"
    "ceMi+/f9HBX9ZLIWFDk0fsO0Grs32QL7zoovKJxnuAqEO4F1+EvV+4D7mTmo/+y8\n"
    "IwIDAQAB\n"
    "-----END PUBLIC KEY-----\n";
inline const std::string kP256Private =
    "-----BEGIN EC PRIVATE KEY-----\n"
    "MHcCAQEEIGINHbVA5vnJD44VJtGHTW+R1yGkgpobBBg4DYSct2pdoAoGCCqGSM49\n"
    "AwEHoUQDQgAEbjH+aF69qvoLBTq/Ckil2ozCtzqPhDIgO3XzY+E+T+luWFw1ndO9\n"
    "EWL7IOOG4vIKe6YWoN8ejwmQZPiMAs3f2A==\n"
    "-----END EC PRIVATE KEY-----\n";
inline const std::string kP256Public =
    "-----BEGIN PUBLIC KEY-----\n"
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEbjH+aF69qvoLBTq/Ckil2ozCtzqP\n"
    "hDIgO3XzY+E+T+luWFw1ndO9EWL7IOOG4vIKe6YWoN8ejwmQZPiMAs3f2A==\n"
    "-----END PUBLIC KEY-----\n";
// RFC 8032 section 7.1, test 3: the secret key in hexadecimal digits, and the public one.
inline const std::string kEd25519Secret =
    "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7";
inline const std::string kEd25519Public =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEA/FHNjmIYoaONpH7QAjDwWAgW7RO6MwOsXeuRFUiQgCU=\n"
    "-----END PUBLIC KEY-----\n";
inline const std::string kRsa1024Public =
    "-----BEGIN PUBLIC KEY-----\n"
    "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDYU6pNcIEqOXwnNPjJGgAK0OF3\n"
    "zUP+y4wPMb+eLDu35xI+NLO26yaB8gOuQkTxrOEnnTHWzy5Hwl2nZcJXtJhWE8ij\n"
    "2XzJY3lzMjLLWBbvlTuSlJQfE5DcBXKQnLdPdhmG7YSxwF9Q4Kg7M7iyMq5NtPoe\n"
    "oyh1v2S9Kd7/UzdI1wIDAQAB\n"
    "-----END PUBLIC KEY-----\n";
inline const std::string kP384Public =
    "-----BEGIN PUBLIC KEY-----\n"
    "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEgb3ATiTfsrVj2T0paO0dHEymq3rGDebk\n"
    "wsIhESUCCRUN1S7JL354IlcuAvXfqJu/oey/eFzSUqxI/NmBExMAO/Gyc4/pP61L\n"
    "UpoLv4w9BiPOcDTFL14N8qNJhtFexNRi\n"
    "-----END PUBLIC KEY-----\n";

}  // namespace spillway::support
